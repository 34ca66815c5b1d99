package zmqstream

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// the other implementation leaves it behind
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/go-zeromq/zmq4.(*pubMWriter).run"))
}
