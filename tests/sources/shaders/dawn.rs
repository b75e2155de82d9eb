//! Every shader compiles with Dawn, the WebGPU implementation of Chromium. Unlike naga, Dawn rejects
//! barriers and subgroup operations in control flow that it cannot prove to be uniform, and mixed
//! operators without parentheses.

use serde_json::{Value, json};
use support::browser::{Browser, Screen};

use super::{Text, distinct_texts, has_halves, has_subgroups, texts};

/// Kernels whose shuffles depend on the result of another subgroup operation. Such a result is
/// uniform in the subgroup, but Dawn does not know it. The headers of these kernels name the
/// directive that they need.
const UNPROVEN: [&str; 5] = ["sw_tile", "sw_tile_half", "sw_tile_half_targets", "myers_subgroup", "sw_striped_score"];
const DIRECTIVE: &str = "diagnostic(off, subgroup_uniformity);";

/// Number of shaders in a message to the browser.
const AT_ONCE: usize = 50;

/// Opens a device, and returns the features that shaders need. `refusals` returns the errors of
/// shaders.
const PAGE: &str = "<!DOCTYPE html><title>shaders</title><script>
let device;
async function openDevice() {
    const adapter = await navigator.gpu?.requestAdapter();
    const features = ['subgroups', 'shader-f16'].filter(feature => adapter?.features.has(feature));
    device = await adapter?.requestDevice({ requiredFeatures: features });
    return device ? features : null;
}
async function refusals(texts) {
    const all = await Promise.all(texts.map(async ([name, code]) => {
        device.pushErrorScope('validation');
        const module = device.createShaderModule({ code });
        device.popErrorScope();
        const { messages } = await module.getCompilationInfo();
        const errors = messages.filter(message => message.type === 'error');
        const at = line => code.split('\\n')[line - 1];
        return errors.map(({ message, lineNum }) => `${name}: ${message}: ${at(lineNum)}`);
    }));
    return all.flat();
}
</script>";

/// Chromium with a device, and the features of the device.
struct Dawn {
    browser: Browser,
    has_halves: bool,
    has_subgroups: bool,
}

impl Dawn {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let page = folder.path().join("shaders.html");
        std::fs::write(&page, PAGE).expect("the page is written");
        let mut browser = Browser::start_with(&["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]);
        browser.open(page.to_str().expect("the path is text"), Screen::ALL[0]);
        let features = browser.value("openDevice()");
        assert!(features.is_array(), "Chromium has no WebGPU adapter: install Debian's package chromium");
        let has = |name: &str| features.as_array().is_some_and(|all| all.iter().any(|feature| feature == name));
        Dawn { has_halves: has("shader-f16"), has_subgroups: has("subgroups"), browser }
    }

    /// Returns the errors of shaders.
    fn refusals(&mut self, texts: &[Text]) -> Vec<String> {
        let mut all = Vec::new();
        for texts in texts.chunks(AT_ONCE) {
            let sources: Vec<Value> = texts.iter().map(|text| json!([text.name, self.strict(&text.source)])).collect();
            let refusals = self.browser.value(&format!("refusals({})", json!(sources)));
            let refusals = refusals.as_array().expect("a list").iter();
            all.extend(refusals.map(|refusal| refusal.as_str().expect("a message").to_owned()));
        }
        all
    }

    /// Returns a shader with the directives that Dawn needs. Without half floats in Chromium, f32
    /// replaces them, which keeps operators and control flow.
    fn strict(&self, source: &str) -> String {
        let mut directives = String::new();
        let mut text = source.to_owned();
        if has_halves(source) && !self.has_halves {
            text = without_halves(source);
        }
        if has_subgroups(source) {
            directives += "enable subgroups;\n";
            if UNPROVEN.iter().any(|stem| source.contains(&format!("// {stem}: "))) {
                directives = format!("{directives}{DIRECTIVE}\n");
            }
        }
        // `enable` directives come first.
        match text.strip_prefix("enable f16;\n") {
            Some(rest) => format!("enable f16;\n{directives}{rest}"),
            None => directives + &text,
        }
    }
}

/// Returns a shader with f32 instead of f16.
fn without_halves(source: &str) -> String {
    let rest = source.strip_prefix("enable f16;\n").expect("it has half floats");
    let mut text = String::with_capacity(rest.len());
    let mut letters = rest.chars().peekable();
    let mut last = ' ';
    while let Some(letter) = letters.next() {
        // The suffix of a number.
        let is_suffix =
            letter == 'h' && last.is_ascii_digit() && letters.peek().is_none_or(|next| !next.is_alphanumeric());
        text.push(if is_suffix { 'f' } else { letter });
        last = letter;
    }
    text.replace("f16", "f32")
}

#[test]
fn every_variant_compiles_with_dawn() {
    let mut dawn = Dawn::start();
    let texts = distinct_texts();
    let count = texts.len();
    let without = texts.iter().filter(|text| has_subgroups(&text.source) && !dawn.has_subgroups).count();
    assert_eq!(without, 0, "Chromium's adapter has no subgroup operations, which {without} of {count} shaders need");
    let refusals = dawn.refusals(&texts);
    let first = refusals.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(refusals.is_empty(), "{} errors in {count} shaders. The first ones:\n{first}", refusals.len());
}

/// Kernels that need the directive name it in their header, and no other kernel has it.
#[test]
fn kernels_name_the_directive_that_dawn_needs() {
    for kernel in pairwave::gpu::kernels::KERNELS {
        let names_it = kernel.shader.contains(DIRECTIVE.trim_end_matches(';'));
        assert_eq!(names_it, UNPROVEN.contains(&kernel.stem), "{}", kernel.stem);
    }
}

/// naga accepts these mistakes.
#[test]
fn dawn_rejects_what_naga_accepts() {
    let texts = texts();
    let text = texts.iter().find(|text| text.source.contains("// nw_diagonal:")).expect("there is one");
    let barrier = "        storageBarrier();";
    let unguarded = text.source.replacen(barrier, "        if (t == 0u) { storageBarrier(); }", 1);
    let mixed = format!("{}\nfn mixed(a: u32) -> u32 {{ return a << 1u | a >> 31u; }}\n", text.source);
    for (name, source) in [("barrier", unguarded), ("operators", mixed)] {
        assert_ne!(source, text.source);
        super::validated(&source).expect("naga accepts it");
        let text = Text { name: name.to_owned(), source, workgroup: text.workgroup, workgroup_bytes: 0 };
        let refusals = Dawn::start().refusals(&[text]);
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        assert!(refusals[0].contains(if name == "barrier" { "uniform control flow" } else { "parenthesis" }));
    }
}
