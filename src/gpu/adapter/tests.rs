use super::*;

#[test]
fn cpu_is_found_without_adapters() {
    assert!(matches!(choose(&["CPU".into()]).unwrap()[..], [Device::Cpu]));
}

#[test]
fn error_for_an_unknown_name_lists_the_devices() {
    for wrong in ["no such device", "4711", ""] {
        let error = choose(&[wrong.into()]).unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
        assert!(error.to_string().ends_with("cpu"), "{error}");
    }
}

#[test]
fn adapter_selected_by_index_and_name_is_used_once() {
    let Some(first) = enumerate().into_iter().next() else {
        panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
    };
    let name = first.description.name.to_uppercase();
    let devices = choose(&["0".into(), name[..4].into(), "cpu".into()]).unwrap();
    assert!(matches!(&devices[..], [Device::Adapter(adapter), Device::Cpu] if adapter.description.index == 0));
}

#[test]
fn variable_selects_an_adapter_by_name() {
    let adapters = enumerate();
    let name = adapters.first().expect("tests need an adapter").description.name.to_lowercase();
    let best = |name| best_of(adapters.clone(), name);
    assert!(matches!(best(Some(&name)), Ok(Device::Adapter(adapter)) if adapter.description.index == 0));
    assert!(best(Some("no such device")).unwrap_err().starts_with("WGPU_ADAPTER_NAME: no device is called"));
    assert!(best(None).is_ok_and(|device| device.adapter().is_none_or(|adapter| !adapter.is_software())));
}

#[test]
fn integrated_gpus_come_first_on_request() {
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};
    let order = |is_integrated_first| {
        let mut kinds = [Cpu, IntegratedGpu, DiscreteGpu];
        kinds.sort_by_key(|&kind| rank(kind, is_integrated_first));
        kinds
    };
    assert_eq!(order(false), [DiscreteGpu, IntegratedGpu, Cpu]);
    assert_eq!(order(true), [IntegratedGpu, DiscreteGpu, Cpu]);
}

/// Returns descriptions with these names, kinds, interfaces and PCI bus ids.
fn described(list: &[(&str, &'static str, &str, &str)]) -> Vec<AdapterDescription> {
    let adapters = list.iter().enumerate().map(|(index, &(name, kind, backend, bus))| AdapterDescription {
        index,
        name: name.into(),
        label: String::new(),
        vendor: "NVIDIA".into(),
        backend: backend.into(),
        kind,
        driver: String::new(),
        pci_bus_id: bus.into(),
        memory_bytes: None,
        subgroup_sizes: [32, 32],
        workgroup_memory_bytes: 1 << 15,
        max_buffer_bytes: 1 << 30,
        max_binding_bytes: 1 << 30,
        max_workgroup_invocations: 1024,
        features: Vec::new(),
    });
    let mut adapters: Vec<AdapterDescription> = adapters.collect();
    label(&mut adapters);
    adapters
}

fn labels(adapters: &[AdapterDescription]) -> Vec<&str> {
    adapters.iter().map(|adapter| adapter.label.as_str()).collect()
}

/// Returns two equal cards and a third one, each with two interfaces, and a software adapter.
fn node() -> Vec<AdapterDescription> {
    described(&[
        ("Tesla C2075", "discrete", "vulkan", "0000:03:00.0"),
        ("Tesla C2050", "discrete", "vulkan", "0000:82:00.0"),
        ("Tesla C2075", "discrete", "vulkan", "0000:84:00.0"),
        ("Tesla C2075", "discrete", "dx12", "0000:03:00.0"),
        ("Tesla C2050", "discrete", "dx12", ""),
        ("llvmpipe (tesla)", "cpu", "vulkan", ""),
    ])
}

#[test]
fn name_selects_all_its_cards_and_bus_id_or_index_one() {
    let node = node();
    let node: Vec<&AdapterDescription> = node.iter().collect();
    let find = |value: &str| find(&node, value).unwrap();
    assert_eq!(find("c2075"), [0, 2]);
    assert_eq!(find("C2050"), [1]);
    assert_eq!(find("Tesla"), [0, 1, 2]);
    assert_eq!(find("LLVM"), [5]);
    assert_eq!(find("0000:84:00.0"), [2]);
    assert_eq!(find("0000:03:00.0"), [0]);
    assert_eq!(find("3"), [3]);
    // These numbers are not indices, but parts of names.
    assert_eq!(find("2075"), [0, 2]);
    assert_eq!(find("2050"), [1]);
    assert_eq!(cards(&node, |adapter| adapter.kind != "cpu"), [0, 1, 2]);
}

#[test]
fn labels_of_cards_with_one_name_differ() {
    let two = |bus: [&str; 2]| described(&bus.map(|bus| ("NVIDIA H200", "discrete", "vulkan", bus)));
    assert_eq!(
        labels(&two(["0000:03:00.0", "0000:84:00.0"])),
        ["NVIDIA H200 (0000:03:00.0)", "NVIDIA H200 (0000:84:00.0)"]
    );
    for bus in [["", ""], ["0000:03:00.0", "0000:03:00.0"]] {
        assert_eq!(labels(&two(bus)), ["NVIDIA H200 (device 0)", "NVIDIA H200 (device 1)"]);
    }
    assert_eq!(labels(&described(&[("Arc A770", "discrete", "vulkan", "0000:03:00.0")])), ["Arc A770"]);
}

#[test]
fn all_selects_every_hardware_adapter_and_the_cpu() {
    let devices = choose(&["all".into()]).unwrap();
    assert!(matches!(devices.last(), Some(Device::Cpu)));
    let software = devices.iter().any(|device| matches!(device, Device::Adapter(adapter) if adapter.is_software()));
    assert!(!software);
}
