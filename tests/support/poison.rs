//! Fills the workgroup memory of shaders with a value at their start. Devices do not clear this
//! memory, so that results must not depend on it.

/// Returns a shader that first fills its workgroup memory with values that are large in every type.
pub fn poisoned(source: String) -> String {
    if variables(&source).next().is_none() {
        return source;
    }
    let stride = between(&source, "@workgroup_size(", ')').expect("a workgroup size");
    // A workgroup that names its lanes by subgroups is one subgroup.
    let index = ["@builtin(local_invocation_index) ", "@builtin(subgroup_invocation_id) "];
    let index = index.iter().find_map(|builtin| between(&source, builtin, ':')).expect("the index of the invocation");
    let fills: String = variables(&source).map(|(name, kind)| fill(name, kind, [index, stride], &source)).collect();
    let body = body_of_main(&source);
    let (before, after) = source.split_at(body);
    format!("{before}\n    var poison = 0x7a7a7a7au;\n{fills}    workgroupBarrier();\n{after}")
}

/// Returns the text after `start` and before `end`.
fn between<'a>(source: &'a str, start: &str, end: char) -> Option<&'a str> {
    source.split_once(start)?.1.split(end).next()
}

/// Returns name and type of each variable in workgroup memory.
fn variables(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let declarations = source.lines().filter_map(|line| line.strip_prefix("var<workgroup> "));
    declarations.map(|line| line.split_once(';').and_then(|(line, _)| line.split_once(": ")).expect("name and type"))
}

/// Returns the index after the opening brace of `main`.
fn body_of_main(source: &str) -> usize {
    let start = source.find("fn main(").expect("an entry point");
    // The parameters end with the parenthesis that closes the first one.
    let mut depth = 0;
    let end = source[start..].bytes().position(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        byte == b')' && depth == 0
    });
    let end = start + end.expect("the parameters end");
    end + source[end..].find('{').expect("a body") + 1
}

/// Returns the statement that fills a variable. The invocations share the elements of an array.
fn fill(name: &str, kind: &str, [begin, stride]: [&str; 2], source: &str) -> String {
    let assign = |place: &str, kind: &str| match kind.strip_prefix("atomic<") {
        Some(inner) => format!("atomicStore(&{place}, {});", value(inner.trim_end_matches('>'), source)),
        None => format!("{place} = {};", value(kind, source)),
    };
    match kind.strip_prefix("array<").and_then(|rest| rest.strip_suffix('>')) {
        Some(inner) => {
            let (element, count) = inner.split_at(end_of_type(inner));
            let count = &count[1..];
            let index = format!("poison_{name}");
            let all = assign(&format!("{name}[{index}]"), element);
            format!("    for (var {index} = {begin}; {index} < u32({count}); {index} += u32({stride})) {{ {all} }}\n")
        }
        None => format!("    {}\n", assign(name, kind)),
    }
}

/// Returns the length of the type at the start of a list of arguments.
fn end_of_type(list: &str) -> usize {
    let mut depth = 0;
    let end = list.bytes().position(|byte| {
        depth += i32::from(byte == b'<') - i32::from(byte == b'>');
        byte == b',' && depth == 0
    });
    end.unwrap_or(list.len())
}

/// Returns a large value of a type.
fn value(kind: &str, source: &str) -> String {
    let kind = kind.trim();
    if let Some((vector, element)) = kind.split_once('<') {
        assert!(vector.starts_with("vec"), "{kind} in workgroup memory");
        return format!("{kind}({})", value(element.trim_end_matches('>'), source));
    }
    match kind {
        "u32" => return "poison".into(),
        "i32" | "f32" => return format!("bitcast<{kind}>(poison)"),
        "f16" => return "f16(-31000.0)".into(),
        _ => {}
    }
    if let Some((_, rest)) = source.split_once(&format!("\nalias {kind} = ")) {
        return value(rest.split(';').next().expect("a type"), source);
    }
    let (_, rest) = source.split_once(&format!("\nstruct {kind} {{")).unwrap_or_else(|| panic!("no type {kind}"));
    let members = rest.split('}').next().expect("members").lines();
    let members = members.filter_map(|line| line.split("//").next()?.trim().trim_end_matches(',').split_once(": "));
    let values: Vec<String> = members.map(|(_, kind)| value(kind, source)).collect();
    format!("{kind}({})", values.join(", "))
}
