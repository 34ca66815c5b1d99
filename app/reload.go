package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"
	"time"

	"octet/classifier/model"
	"octet/config"
	"octet/gateway/front"
	"octet/internal/contain"
	"octet/internal/files"
)

// errNoSource is a configuration that did not come from a file.
var errNoSource = errors.New("the configuration has no file to be read from again")

// Reload reads the configuration again and puts it in force, or returns why it cannot be, with nothing changed.
func (a *App) Reload(ctx context.Context) error {
	if a.Source.Path == "" {
		return errNoSource
	}
	if a.Reloading != nil {
		defer a.Reloading()()
	}
	cfg, err := a.Source.Load()
	if err != nil {
		return err
	}
	a.warnOfRestart(cfg)
	return a.Apply(ctx, cfg)
}

// follow reloads on SIGHUP, and each time that the file, or the classifier's artefact, changes.
func (a *App) follow(ctx context.Context) {
	hangups := make(chan os.Signal, 1) // one is enough: a reload reads the newest file
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	changed := make(chan struct{}, 1) // likewise
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { a.followModel(ctx, notify) })
	watching.Go(func() {
		err := config.Watch(ctx, a.Source.Path, notify)
		if err != nil && ctx.Err() == nil {
			a.Log.Warn("the file is not watched; SIGHUP still reloads", "error", err)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-changed:
		}
		if err := a.Reload(ctx); err != nil {
			a.Log.Error("reload refused, the last good configuration stays", "error", err)
		}
	}
}

// modelEvery is how soon another artefact at the configured path is noticed.
const modelEvery = time.Second

// followModel calls onChange when the file of the configured artefact has been replaced, until ctx ends. A file that is
// gone is waited for; one that is half written fails its checksum and is read again once it has changed further.
func (a *App) followModel(ctx context.Context, onChange func()) {
	stamp := func() files.Stamp {
		path := a.Config().Router.Classifier.Model
		if path == model.BuiltinName {
			return files.Stamp{Path: path}
		}
		return files.StampOf(path)
	}
	last := stamp()
	contain.Every(ctx, modelEvery, func(time.Time) {
		now := stamp()
		if now.Path == last.Path && now != last && now.Exists() {
			onChange()
		}
		if now.Exists() || now.Path != last.Path {
			last = now
		}
	})
}

// sameSources reports whether two events sections differ in nothing but what each generation takes over.
func sameSources(old, now config.Events) bool {
	now.TrustFor, now.ExcludeAfter, now.BindFor = old.TrustFor, old.ExcludeAfter, old.BindFor
	return reflect.DeepEqual(old, now)
}

// warnOfRestart names the sections that are read at the start only and are others than at the start.
func (a *App) warnOfRestart(cfg *config.Config) {
	for _, section := range atStart(a.begun, cfg) {
		a.Log.Warn("this section takes effect at the next start only", "section", section)
	}
}

// atStart returns the sections that are read at the start only, and that two configurations have differently.
func atStart(old, now *config.Config) (changed []string) {
	for _, section := range []struct {
		name string
		same bool
	}{
		{"listen", reflect.DeepEqual(old.Listen, now.Listen)}, {"front", old.Front == now.Front},
		{"admin", reflect.DeepEqual(old.Admin, now.Admin)}, {"log", old.Log == now.Log},
		{"gateways", reflect.DeepEqual(old.Gateways, now.Gateways)},
		{"hash_seed", old.HashSeed == now.HashSeed}, {"events", sameSources(old.Events, now.Events)},
		{"auth.shared", reflect.DeepEqual(old.Auth.Shared, now.Auth.Shared)},
		{"auth.state", old.Auth.State == now.Auth.State && old.Auth.StateInterval == now.Auth.StateInterval},
		{"outcomes.verifier", reflect.DeepEqual(old.Outcomes.Verifier, now.Outcomes.Verifier)},
		{"shadow.stream and shadow.file", sameCalibration(&old.Shadow, &now.Shadow)},
		{"receipts", old.Receipts == now.Receipts}, {"limits.receipts", old.Limits.Receipts == now.Limits.Receipts},
		{"limits.idempotency_keys", old.Limits.IdempotencyKeys == now.Limits.IdempotencyKeys},
		{"limits.header_bytes", int(now.Limits.HeaderBytes) <= front.Head(int(old.Limits.HeaderBytes))},
		{"limits.header_fields", old.Limits.HeaderFields == now.Limits.HeaderFields},
		{"limits.header_timeout", old.Limits.HeaderTimeout == now.Limits.HeaderTimeout},
		{"limits.keepalive_timeout", old.Limits.KeepaliveTimeout == now.Limits.KeepaliveTimeout},
		{"limits.handshakes", old.Limits.Handshakes == now.Limits.Handshakes},
	} {
		if !section.same {
			changed = append(changed, section.name)
		}
	}
	return changed
}
