package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"octet/engine/openai"
	"octet/routing"
)

// meetings are the prompts that an engine is asked about when it is met: what tokenizers and templates differ in.
var meetings = [...]routing.Facts{
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"user","content":" Why does this not compile?\n\n\tstd::vector<int> v{1,22,333,4444};  // it's 2026, don't you'LL\n"}]}`)},
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"user","content":"é ñ 漢字、かな 🎉 \u00a0x"},{"role":"assistant","content":"Yes. "},{"role":"user","content":"<b>&amp;</b>  end"}]}`)},
	{Kind: "chat", Body: []byte(
		`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}`)},
	{Kind: "completion", Body: []byte(`{"prompt":"int main() {\r\n  return 0;\r\n}\n"}`)},
}

// meet compares a replica that has not been compared yet. What the template refuses is not compared.
func (t *tokenizers) meet(ctx context.Context, specialist, replica string, log *slog.Logger) {
	one := (*t.by.Load())[specialist]
	if one == nil || one.local == nil || t.checks.state(replica).State != unchecked {
		return
	}
	at := slices.IndexFunc(one.replicas, func(r checkedReplica) bool { return r.name == replica })
	if at < 0 {
		return
	}
	asked := one.replicas[at]
	differences, err := one.meet(ctx, asked)
	if errors.Is(err, openai.ErrUnsupported) {
		t.checks.unknowable(asked)
	}
	if err != nil {
		return // the next probe asks again
	}
	for _, difference := range differences {
		if t.checks.note(asked, one.local.id, difference) {
			log.Warn("the engine tokenizes otherwise: the replica is scored approximately", "replica", replica,
				"difference", difference)
		}
	}
}

// meet compares all that the template renders, and returns what came out for each.
func (t *tokenizer) meet(ctx context.Context, r checkedReplica) (differences []error, err error) {
	for i := range meetings {
		text, err := t.render(nil, &meetings[i], time.Now())
		if err != nil {
			continue
		}
		difference, err := compare(ctx, t.model, r, &meetings[i], t.ids(text))
		var refused *openai.StatusError
		if errors.As(err, &refused) &&
			(refused.Status == http.StatusBadRequest || refused.Status == http.StatusUnprocessableEntity) {
			difference, err = fmt.Errorf("it refuses what is rendered here: %w", refused), nil
		}
		if err != nil {
			return nil, err
		}
		differences = append(differences, difference)
	}
	return differences, nil
}
