//! Self-tests and speed measurements of devices, for `pairwave devices`.

use std::fmt;

use serde::Serialize;

use super::self_test::{self, KernelTest};
use super::speeds::{self, MeasuredSpeed};
use crate::error::Result;
use crate::gpu::adapter::Device;
use crate::jobs::devices::ListedDevice;

/// A device and its measurements.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// The device.
    #[serde(flatten)]
    pub device: ListedDevice,
    /// Results of the self-test, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub self_test: Vec<KernelTest>,
    /// Speeds, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bench: Vec<MeasuredSpeed>,
}

/// Reports on devices, with self-tests and speed measurements if requested.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) for an adapter that cannot be opened. A failed self-test
/// is part of the report.
pub fn report(devices: &[Device], self_test: bool, bench: bool) -> Result<Vec<DeviceReport>> {
    devices.iter().map(|device| report_one(device, self_test, bench)).collect()
}

fn report_one(device: &Device, self_test: bool, bench: bool) -> Result<DeviceReport> {
    let mut report = DeviceReport { device: device.into(), self_test: Vec::new(), bench: Vec::new() };
    match device {
        Device::Adapter(adapter) => {
            if self_test {
                report.self_test = self_test::on_adapter(adapter, &|_| true);
            }
            if bench {
                report.bench = speeds::measure_adapter(adapter)?;
            }
        }
        Device::Cpu => {
            if self_test {
                report.self_test = self_test::on_cpu();
            }
            if bench {
                report.bench = speeds::measure_cpu()?;
            }
        }
    }
    Ok(report)
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.device)?;
        for test in &self.self_test {
            match &test.failure {
                None => writeln!(f, "  self-test         {}: passed, {} pairs", test.kernel, test.pairs)?,
                Some(failure) => writeln!(f, "  self-test         {}: FAILED: {failure}", test.kernel)?,
            }
        }
        for speed in &self.bench {
            writeln!(f, "  bench             {}: {:.1} GCUPS, {}", speed.kernel, speed.gcups, speed.work)?;
        }
        Ok(())
    }
}
