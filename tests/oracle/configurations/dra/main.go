// Says of each text of feature gates, a JSON string on a line of its own, what the DRA driver does with it: one line each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/dra-driver-nvidia-gpu/pkg/featuregates"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			panic(err)
		}
		fmt.Println(featuregates.Asked(text))
	}
}
