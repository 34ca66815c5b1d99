package cmd

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
	"octet/slo"
)

func knobCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "knob",
		Short: "Thresholds and priority floors of a running gateway: list, set for a time, unset",
		Args:  cobra.ArbitraryArgs, // an unknown command is ours to report
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command \"knob %s\"", args[0])}
			}
			return cmd.Help()
		},
	}
	c.AddCommand(knobListCommand(), knobSetCommand(), knobUnsetCommand())
	return c
}

func knobListCommand() *cobra.Command {
	var admin adminFlag
	c := &cobra.Command{
		Use:   "list",
		Short: "All knobs, what is in force, and what has set it",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := admin.client()
			if err != nil {
				return err
			}
			all, err := client.Knobs(cmd.Context())
			if err != nil {
				return err
			}
			return printKnobs(cmd.OutOrStdout(), all)
		},
	}
	admin.add(c)
	return c
}

func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("no argument is needed, %d given", len(args))}
	}
	return nil
}

// knobSet is what `octet knob set` does.
type knobSet struct {
	admin adminFlag
	adminclient.Override
}

func knobSetCommand() *cobra.Command {
	var s knobSet
	c := &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Override a knob for a time",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("NAME and VALUE are needed, %d given", len(args))}
			}
			if args[0] == "" {
				return usageError{errors.New("the NAME is empty")}
			}
			return nil
		},
		RunE: s.run,
	}
	s.admin.add(c)
	c.Flags().DurationVar(&s.For, "for", 0, "how long, such as 15m; 0s is until it is unset")
	c.Flags().StringVar(&s.Why, "why", "", "for those that meet the override later")
	c.Flags().StringVar(&s.By, "by", "", "on whose order; default the user that runs this")
	c.ValidArgsFunction = s.admin.names(knobNames)
	return c
}

func (s *knobSet) run(cmd *cobra.Command, args []string) error {
	value, err := strconv.ParseFloat(args[1], 64)
	switch {
	case err != nil || math.IsNaN(value) || math.IsInf(value, 0):
		return usageError{fmt.Errorf("%.64q is no number", args[1])}
	case !cmd.Flags().Changed("for"):
		return usageError{errors.New("--for is needed: how long, such as 15m; 0s is until it is unset")}
	case s.For < 0:
		return usageError{errors.New("--for is not negative")}
	case s.Why == "":
		return usageError{errors.New("--why is needed")}
	}
	if s.Value = value; s.By == "" {
		s.By = "octet knob"
		if u, err := user.Current(); err == nil {
			s.By = u.Username
		}
	}
	client, err := s.admin.client()
	if err != nil {
		return err
	}
	all, err := client.SetKnob(cmd.Context(), args[0], s.Override)
	if err != nil {
		return err
	}
	return printKnob(cmd.OutOrStdout(), all, args[0])
}

func knobUnsetCommand() *cobra.Command {
	var admin adminFlag
	c := &cobra.Command{
		Use:   "unset NAME",
		Short: "End the override of a knob",
		Args:  exactlyOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := admin.client()
			if err != nil {
				return err
			}
			all, err := client.UnsetKnob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printKnob(cmd.OutOrStdout(), all, args[0])
		},
	}
	admin.add(c)
	c.ValidArgsFunction = admin.names(knobNames)
	return c
}

// printKnob shows one knob of all.
func printKnob(out io.Writer, all []slo.KnobState, name string) error {
	i := slices.IndexFunc(all, func(k slo.KnobState) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("the gateway knows no knob %q any more", adminclient.Plain(name))
	}
	return printKnobs(out, all[i:i+1])
}

// printKnobs shows knobs, one a line.
func printKnobs(out io.Writer, all []slo.KnobState) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "knob\tvalue\tdefault\trange\tby\tuntil\twhy")
	for i := range all {
		k := &all[i]
		fmt.Fprintf(w, "%s\t%g\t%g\t%g to %g\t%s\n", adminclient.Plain(k.Name), k.Value, k.Default, k.Min, k.Max,
			origin(k))
	}
	return w.Flush()
}

// origin is what has set a knob, until when and why: three cells.
func origin(k *slo.KnobState) string {
	o := k.Override
	if o == nil {
		o = k.Set
	}
	if o == nil {
		return "config\t\t"
	}
	until := "unset"
	switch {
	case !o.Until.IsZero():
		until = o.Until.Local().Format(time.DateTime)
	case k.Override == nil:
		until = ""
	}
	return fmt.Sprintf("%s\t%s\t%s", adminclient.Plain(o.By), until, adminclient.Plain(o.Why))
}

// inForce says a knob's value in a few words.
func inForce(k *slo.KnobState) string {
	return fmt.Sprintf("%g; default %g, %g to %g", k.Value, k.Default, k.Min, k.Max)
}

var negative = regexp.MustCompile(`^-\.?\d`)

// signed puts the negative number of `octet knob set NAME -10` behind all flags and a "--", so that it is not
// taken for one.
func signed(args []string) []string {
	if len(args) < 3 || args[0] != "knob" || args[1] != "set" || slices.Contains(args, "--") {
		return args
	}
	for i := 2; i < len(args); i++ {
		ofFlag := strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") // each takes a value
		if negative.MatchString(args[i]) && !ofFlag {
			return append(slices.Delete(slices.Clone(args), i, i+1), "--", args[i])
		}
	}
	return args
}
