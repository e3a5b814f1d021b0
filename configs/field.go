package configs

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one leaf of a configuration struct: its dotted key, and where its
// value sits.
type field struct {
	key   string
	value reflect.Value
}

// fieldsOf lists the leaves of the struct that ptr points to, in order.
// Setting a field changes the struct.
func fieldsOf(ptr any) []field { return walk("", reflect.ValueOf(ptr).Elem()) }

func walk(prefix string, v reflect.Value) []field {
	var leaves []field
	for i := range v.NumField() {
		key := prefix + v.Type().Field(i).Tag.Get("yaml")
		if v.Field(i).Kind() == reflect.Struct {
			leaves = append(leaves, walk(key+".", v.Field(i))...)
			continue
		}
		leaves = append(leaves, field{key: key, value: v.Field(i)})
	}
	return leaves
}

// variable is the environment variable that sets f.
func (f field) variable() string {
	return "MEMD_" + strings.ToUpper(strings.ReplaceAll(f.key, ".", "_"))
}

// flag is the command-line flag that sets f.
func (f field) flag() string {
	return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(f.key)
}

func (f field) isMap() bool  { return f.value.Kind() == reflect.Map }
func (f field) isList() bool { return f.value.Kind() == reflect.Slice }

// set reads text into f. What is wrong with a well-formed value is the
// business of Config.validate. A list is comma-separated; a map cannot be set
// from one text.
func (f field) set(text string) error {
	switch p := f.value.Addr().Interface().(type) {
	case *string:
		*p = text
	case *[]string:
		*p = splitList(text)
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%.40q is neither true nor false", text)
		}
		*p = b
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%.40q is not a whole number", text)
		}
		*p = n
	case *float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%.40q is not a number", text)
		}
		*p = x
	case *int64:
		n, err := parseSize(text)
		if err != nil {
			return err
		}
		*p = n
	case *time.Duration:
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*p = d
	case *map[string]string, *map[string]Peer:
		return errors.New("can only be set in the configuration file")
	default:
		panic(fmt.Sprintf("configs: %s has a type that no text can set", f.key))
	}
	return nil
}

// text renders f so that set would read it back. A map renders as "".
func (f field) text() string {
	switch v := f.value.Interface().(type) {
	case []string:
		return strings.Join(v, ",")
	case time.Duration:
		return formatDuration(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]string, map[string]Peer:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// entries renders f for people: one entry, or one for each key of a map.
func (f field) entries(origin func(key string) string) []Entry {
	var list []Entry
	switch m := f.value.Interface().(type) {
	case map[string]string:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			key := f.key + "." + name
			list = append(list, Entry{Key: key, Value: m[name], Origin: origin(key)})
		}
	case map[string]Peer:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			peer := m[name]
			for _, leaf := range walk(f.key+"."+name+".", reflect.ValueOf(&peer).Elem()) {
				list = append(list, leaf.entries(origin)...)
			}
		}
	}
	if len(list) == 0 {
		list = []Entry{{Key: f.key, Value: f.text(), Origin: origin(f.key)}}
	}
	return list
}

func splitList(text string) []string {
	list := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
