package remote

// SuspendedFor is how long a service that fails is not asked.
const SuspendedFor = suspendedFor
