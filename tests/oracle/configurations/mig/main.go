// Says of each text, a JSON string on a line of its own, whether mig-parted reads it: one line each, empty where it does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	v1 "github.com/NVIDIA/mig-parted/api/spec/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			panic(err)
		}
		var spec v1.Spec
		said := ""
		if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
			said = "refused"
		}
		fmt.Println(said)
	}
}
