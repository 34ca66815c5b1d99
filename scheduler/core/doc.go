// Package core schedules the requests of one step engine: Core decides, Loop drives.
package core
