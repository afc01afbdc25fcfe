// Checks a page's calls against what a vendor declares or documents (vendor-shapes.json, documented-shapes.ts): an unknown name, a wrong
// type or something missing is reported to the sandbox, which fails the test that caused it, and throws. Prepended to each of the
// scripts here.
// biome-ignore lint/correctness/noUnusedVariables: the script after this one uses it
const makeChecker = ({ interfaces, types }, report) => {
  const format = (value) => {
    try {
      return (JSON.stringify(value) ?? String(value)).slice(0, 200);
    } catch {
      return String(value);
    }
  };
  const fault = (message) => {
    report('fault', message);
    throw new TypeError(message);
  };
  const isPlain = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

  /** The first difference between a value and its shape; `null` if it matches. */
  const mismatch = (shape, value, path) => {
    switch (shape.kind) {
      case 'any':
        return null;
      case 'null':
        return value === null ? null : `${path} is ${format(value)}, not null`;
      case 'literal':
        return value === shape.value ? null : `${path} is ${format(value)}, not ${format(shape.value)}`;
      case 'union': {
        const mismatches = shape.of.map((one) => mismatch(one, value, path));
        if (mismatches.includes(null)) return null;
        // Of several object shapes, the closest one gives the most useful error.
        const closest = shape.of.findIndex(
          ({ kind }) => (kind === 'object' && isPlain(value)) || (kind === 'array' && Array.isArray(value)),
        );
        return closest < 0 ? `${path} is ${format(value)}, which is not an allowed value` : mismatches[closest];
      }
      case 'array':
      case 'tuple': {
        if (!Array.isArray(value)) return `${path} is ${format(value)}, not a list`;
        if (shape.kind === 'tuple' && value.length !== shape.of.length)
          return `${path} has ${value.length} parts and not ${shape.of.length}`;
        const parts = value.map((part, at) =>
          mismatch(shape.kind === 'tuple' ? shape.of[at] : shape.of, part, `${path}[${at}]`),
        );
        return parts.find((one) => one !== null) ?? null;
      }
      case 'object': {
        if (!isPlain(value)) return `${path} is ${format(value)}, not an object`;
        for (const name of shape.required) if (value[name] === undefined) return `${path}.${name} is missing`;
        for (const [name, part] of Object.entries(value)) {
          const field = shape.fields[name] ?? shape.rest;
          if (!field) return `${path} has no ${name}`;
          const found = mismatch(field, part, `${path}.${name}`);
          if (found !== null) return found;
        }
        return null;
      }
      default: {
        return typeof value === shape.kind ? null : `${path} is ${format(value)}, not a ${shape.kind}`;
      }
    }
  };
  const check = (shape, value, path) => {
    const found = mismatch(shape, value, path);
    if (found !== null) fault(found);
  };

  return {
    fault,
    check: (type, value) => check(types[type], value, type),
    /** A vendor's object that has only the names of an interface, with arguments as declared. */
    wrap: (name, implementation) =>
      new Proxy(implementation, {
        get(target, member) {
          if (typeof member === 'symbol' || member === 'then') return Reflect.get(target, member);
          const declared = interfaces[name][member];
          if (declared === undefined) return fault(`${name} has no ${member}`);
          if (!(member in target)) return fault(`${name}.${member}: the stand-in doesn’t implement it`);
          if (declared === null) return Reflect.get(target, member);
          return (...given) => {
            if (given.length < declared.least || given.length > declared.arguments.length)
              fault(
                `${name}.${member} takes ${declared.least} to ${declared.arguments.length} arguments, but got ${given.length}`,
              );
            for (const [at, value] of given.entries()) check(declared.arguments[at], value, `${name}.${member}(${at})`);
            return target[member](...given);
          };
        },
      }),
  };
};
