import { expect, it } from 'vitest';
import { inlined } from './inline-publication.ts';

const paper = { name: 'The "Sun"', layout: { popup: { scroll: 800 } }, hidden: ['/a', '/b'] };

it.each([
  ['const a = publication.name;', 'const a = ("The \\"Sun\\"");'],
  ['const { scroll } = publication.layout.popup;', 'const { scroll } = ({"scroll":800});'],
  ['f(publication.layout.popup.scroll + 1)', 'f((800) + 1)'],
  ['[...publication.hidden]', '[...(["/a","/b"])]'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  ['`of ${publication.name}`', '`of ${("The \\"Sun\\"")}`'],
  ['publication.name.length', '("The \\"Sun\\"").length'],
  ['publication.hidden.includes(x)', '(["/a","/b"]).includes(x)'],
])('a reference to a publication setting is replaced by its value: %s', (code, wanted) => {
  expect(inlined(code, paper)).toBe(wanted);
});

it.each([
  "import { publication } from '../publication.ts';",
  'type A = typeof publication.name;',
  'other.publication.name',
  'myPublication.name + publication_.name',
  'publication.unknown',
  'f(publication)',
])('code that is not a reference to a publication setting is left unchanged: %s', (code) => {
  expect(inlined(code, paper)).toBe(code);
});
