//! Devices as a user names them. Another module matches these names with adapters.

use pairwave::{Error, Result};
use std::fmt;

/// Device or devices named by one value of `--device`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DeviceChoice {
    /// Best available device.
    Auto,
    /// Every device.
    All,
    /// CPU.
    Cpu,
    /// Device with this index in the list of `pairwave devices`. If the list is shorter, the
    /// devices whose names contain the number.
    Index(usize),
    /// Device at this position on the PCI bus: domain, bus, device and function, in lower case as
    /// `0000:3b:00.0`.
    Bus(String),
    /// Devices whose names contain this text, ignoring case.
    Name(String),
}

impl DeviceChoice {
    fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        Ok(match text.to_ascii_lowercase().as_str() {
            "" => return Err(Error::usage("--device: a name is missing; 'pairwave devices' lists the devices")),
            "auto" => DeviceChoice::Auto,
            "all" => DeviceChoice::All,
            "cpu" => DeviceChoice::Cpu,
            lower => match (lower.parse(), bus_id(lower)) {
                (Ok(index), _) => DeviceChoice::Index(index),
                (_, Some(bus)) => DeviceChoice::Bus(bus),
                _ => DeviceChoice::Name(text.to_owned()),
            },
        })
    }

    /// Parses all values of `--device`. Returns [`DeviceChoice::Auto`] alone if there are none.
    pub(super) fn parse_all(texts: &[String]) -> Result<Vec<Self>> {
        let mut choices = Vec::new();
        for text in texts {
            let choice = Self::parse(text)?;
            if choices.contains(&choice) {
                if choice == DeviceChoice::Cpu {
                    // Repeating the CPU is harmless; repeating an adapter is a mistake.
                    continue;
                }
                return Err(Error::usage(format!("--device: '{choice}' is given twice")));
            }
            choices.push(choice);
        }
        let alone = choices.iter().find(|choice| matches!(choice, DeviceChoice::Auto | DeviceChoice::All));
        // 'all' includes the CPU, so 'all' and 'cpu' may be named together.
        let company = choices.iter().filter(|&choice| *choice != DeviceChoice::Cpu).count();
        match alone {
            Some(choice) if company > 1 || *choice == DeviceChoice::Auto && choices.len() > 1 => {
                Err(Error::usage(format!("--device: '{choice}' cannot be combined with other devices")))
            }
            _ if choices.is_empty() => Ok(vec![DeviceChoice::Auto]),
            _ => Ok(choices),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::All => f.write_str("all"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Index(index) => index.fmt(f),
            DeviceChoice::Bus(bus) => f.write_str(bus),
            DeviceChoice::Name(name) => f.write_str(name),
        }
    }
}

/// Returns `[domain:]bus:device.function` in the form that Linux and wgpu print, or `None` if
/// `text` is something else. The domain may have eight digits, as nvidia-smi prints it.
fn bus_id(text: &str) -> Option<String> {
    let (slot, function) = text.rsplit_once('.')?;
    let mut parts = slot.rsplit(':');
    let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let hex = |text: &str, most: usize| {
        (!text.is_empty() && text.len() <= most).then(|| u32::from_str_radix(text, 16).ok()).flatten()
    };
    if parts.next().is_some() {
        return None;
    }
    let (domain, bus, device, function) = (hex(domain, 8)?, hex(bus, 2)?, hex(device, 2)?, hex(function, 1)?);
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Vec<DeviceChoice>> {
        DeviceChoice::parse_all(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_way_to_name_a_device() {
        use DeviceChoice::*;
        assert_eq!(parse(&[]).unwrap(), [Auto]);
        assert_eq!(parse(&["ALL"]).unwrap(), [All]);
        assert_eq!(parse(&["cpu", "1"]).unwrap(), [Cpu, Index(1)]);
        assert_eq!(parse(&["NVIDIA H200"]).unwrap(), [Name("NVIDIA H200".into())]);
        assert_eq!(parse(&["llvmpipe (LLVM 15.0.6, 256 bits)"]).unwrap().len(), 1);
        for id in ["3b:00.0", "0000:3B:00.0", "00000000:3B:00.0"] {
            assert_eq!(parse(&[id]).unwrap(), [Bus("0000:3b:00.0".into())]);
        }
        assert_eq!(parse(&["0001:3b:00.0"]).unwrap(), [Bus("0001:3b:00.0".into())]);
        assert_eq!(parse(&["GTX 1.0"]).unwrap(), [Name("GTX 1.0".into())]);
    }

    #[test]
    fn cpu_may_be_repeated_and_combined_with_all() {
        use DeviceChoice::*;
        assert_eq!(parse(&["all", "cpu"]).unwrap(), [All, Cpu]);
        assert_eq!(parse(&["cpu", "ALL", "CPU"]).unwrap(), [Cpu, All]);
        assert_eq!(parse(&["cpu", "0", "cpu"]).unwrap(), [Cpu, Index(0)]);
    }

    #[test]
    fn repeated_and_contradictory_devices_are_rejected() {
        let message = |texts: &[&str]| parse(texts).unwrap_err().to_string();
        assert_eq!(message(&["0", "1", "0"]), "--device: '0' is given twice");
        assert_eq!(message(&["0", "all"]), "--device: 'all' cannot be combined with other devices");
        assert_eq!(message(&["auto", "cpu"]), "--device: 'auto' cannot be combined with other devices");
        assert!(message(&["0", ""]).contains("missing"));
    }
}
