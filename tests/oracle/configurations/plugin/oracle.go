// Says of each text, a JSON string on a line of its own, at what the device plugin or its MPS daemon stops with it, under the
// variables that this process has: read, plugin, daemon; or which resources it then offers, and how many of each. Built as a
// part of cmd/nvidia-device-plugin.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/NVIDIA/go-nvlib/pkg/nvlib/device"
	nvinfo "github.com/NVIDIA/go-nvlib/pkg/nvlib/info"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/k8s-device-plugin/cmd/mps-control-daemon/mps"
	"github.com/NVIDIA/k8s-device-plugin/internal/rm"
	"github.com/urfave/cli/v2"
	"k8s.io/klog/v2"
)

const texts = "/dev/shm/plugin-oracle.yaml"

// A machine that has NVML.
type machine struct{ nvinfo.Interface }

func (machine) HasNvml() (bool, string)          { return true, "" }
func (machine) HasTegraFiles() (bool, string)    { return false, "" }
func (machine) ResolvePlatform() nvinfo.Platform { return nvinfo.PlatformNVML }

func judge(c *cli.Context, flags []cli.Flag) error {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	defer os.Remove(texts)
	var major, minor int
	if _, err := fmt.Sscanf(os.Getenv("CAPABILITY"), "%d.%d", &major, &minor); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			return err
		}
		if err := os.WriteFile(texts, []byte(text), 0o600); err != nil {
			return err
		}
		if err := c.Set("config-file", texts); err != nil {
			return err
		}
		fmt.Println(stopsAt(c, flags, library(major, minor)))
	}
	return nil
}

func stopsAt(c *cli.Context, flags []cli.Flag, library nvml.Interface) string {
	config, err := loadConfig(c, flags)
	if err != nil {
		return "read"
	}
	if err := validateFlags(machine{}, config); err != nil {
		return "plugin"
	}
	devices := device.New(library)
	unnamed(config)
	if err := rm.AddDefaultResourcesToConfig(machine{}, library, devices, config); err != nil {
		return "plugin"
	}
	if _, err := mps.NewDaemons(machine{}, library, devices, mps.WithConfig(config)); err != nil {
		return "daemon"
	}
	managers, err := rm.NewNVMLResourceManagers(machine{}, library, devices, config)
	if err != nil {
		return "plugin"
	}
	offers := []string{}
	for _, manager := range managers {
		offers = append(offers, fmt.Sprintf("%s=%d", manager.Resource(), len(manager.Devices())))
	}
	sort.Strings(offers)
	return strings.Join(offers, " ")
}

// Two GPUs of one compute capability, without partitions.
func library(major, minor int) nvml.Interface {
	return &mock.Interface{
		InitFunc:           func() nvml.Return { return nvml.SUCCESS },
		ShutdownFunc:       func() nvml.Return { return nvml.SUCCESS },
		DeviceGetCountFunc: func() (int, nvml.Return) { return 2, nvml.SUCCESS },
		ExtensionsFunc: func() nvml.ExtendedInterface {
			return &mock.ExtendedInterface{LookupSymbolFunc: func(string) error { return nil }}
		},
		DeviceGetHandleByIndexFunc: func(index int) (nvml.Device, nvml.Return) {
			return &mock.Device{
				GetNameFunc:                  func() (string, nvml.Return) { return "GPU", nvml.SUCCESS },
				GetUUIDFunc:                  func() (string, nvml.Return) { return fmt.Sprintf("GPU-%d", index), nvml.SUCCESS },
				GetMinorNumberFunc:           func() (int, nvml.Return) { return index, nvml.SUCCESS },
				GetMigModeFunc:               func() (int, int, nvml.Return) { return 0, 0, nvml.ERROR_NOT_SUPPORTED },
				GetPciInfoFunc:               func() (nvml.PciInfo, nvml.Return) { return nvml.PciInfo{}, nvml.SUCCESS },
				GetMemoryInfoFunc:            func() (nvml.Memory, nvml.Return) { return nvml.Memory{Total: 16 << 30}, nvml.SUCCESS },
				GetCudaComputeCapabilityFunc: func() (int, int, nvml.Return) { return major, minor, nvml.SUCCESS },
			}, nvml.SUCCESS
		},
	}
}
