// The values of flags: checked where they are set, but for those whose error
// must not repeat them.

package config

import "strings"

// flagValue is a pflag.Value of a setting.
type flagValue struct {
	setting Setting
	text    string
	set     bool
}

// Set takes a value from the command line. A repeated list grows.
//
// The flag library puts a refused value into its message, so what may hold a
// password is checked by Load instead.
func (v *flagValue) Set(value string) error {
	if !v.setting.secret {
		if err := v.setting.validate(value); err != nil {
			return err
		}
	}
	if v.setting.kind == list && v.set {
		value = v.text + "," + value
	}
	v.text, v.set = value, true
	return nil
}

// String returns the value as it would be written on a command line.
func (v *flagValue) String() string { return v.text }

// Type returns the name of the kind, which help shows where the usage text
// names nothing better. Viper and Cobra know "bool" by it.
func (v *flagValue) Type() string {
	switch v.setting.kind {
	case boolean:
		return "bool"
	case number:
		return "number"
	case length:
		return "duration"
	case list:
		return strings.ToUpper(v.setting.Name)
	default:
		return "string"
	}
}
