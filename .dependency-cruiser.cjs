/**
 * Which layer may import which: imports run downwards only.
 *
 *     server → pages → layouts, components, islands → stores → lib
 *     server → press · server, pages → content → lib
 *
 * `*.server.ts` is never reachable from an island, `press` imports neither `content` nor Astro, and `sandbox` imports
 * nothing of `src`. tests/import-rules.test.ts proves that each rule bites.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
const upwards = (from, to, comment) => ({
  name: `${from.name}-looks-down-only`,
  severity: 'error',
  comment,
  from: { path: from.path, pathNot: '\\.test\\.tsx?$' },
  to: { path: to, dependencyTypesNot: ['type-only'] },
});

module.exports = {
  forbidden: [
    upwards(
      { name: 'lib', path: '^src/lib/' },
      '^src/(server|pages|layouts|components|islands|stores|press)/|^src/middleware',
      'lib is at the bottom: it knows nothing of pages, islands and the server.',
    ),
    {
      name: 'content-above-lib',
      severity: 'error',
      comment:
        'The content’s model and tags are in src/lib/content; lib imports nothing of src/content, types included.',
      from: { path: '^src/lib/', pathNot: '\\.test\\.tsx?$' },
      to: { path: '^src/content/' },
    },
    upwards(
      { name: 'stores', path: '^src/stores/' },
      '^src/(server|pages|layouts|components|islands|press|content)/|^src/middleware',
      'Stores know clients and models of lib, nothing above.',
    ),
    upwards(
      { name: 'islands', path: '^src/islands/' },
      '^src/(server|pages|layouts|components|press|content)/|^src/middleware',
      'Islands know stores and lib, nothing above.',
    ),
    upwards(
      { name: 'components', path: '^src/components/' },
      '^src/(server|pages|layouts|press)/|^src/middleware',
      'Components are used by layouts and pages, never the other way round.',
    ),
    upwards(
      { name: 'layouts', path: '^src/layouts/' },
      '^src/(server|pages|press)/|^src/middleware',
      'Layouts are used by pages.',
    ),
    upwards(
      { name: 'pages', path: '^src/pages/' },
      '^src/(server|press)/|^src/middleware',
      'Pages get services through Astro.locals and import none.',
    ),
    upwards(
      { name: 'content', path: '^src/content/' },
      '^src/(server|pages|layouts|components|islands|stores|press)/|^src/middleware',
      'Content is read by pages and opened by the server.',
    ),
    {
      name: 'islands-without-server',
      severity: 'error',
      comment: 'A *.server.ts module would reach the browser, or break there.',
      from: { path: '^src/islands/' },
      to: { path: '\\.server\\.tsx?$', reachable: true },
    },
    {
      name: 'press-without-wordpress',
      severity: 'error',
      comment: 'The press stores and re-renders pages of anything; it imports neither content nor Astro.',
      from: { path: '^src/press/', pathNot: '\\.test\\.tsx?$' },
      to: { path: '^src/(content|server|pages|layouts|components|islands|stores)/|(^|/)astro(/|$)|^astro:' },
    },
    {
      name: 'sandbox-without-product',
      severity: 'error',
      comment: 'The sandbox speaks the vendors’ protocols; what it shares with the product is the wire.',
      from: { path: '^sandbox/' },
      to: { path: '^src/' },
    },
    {
      name: 'product-without-sandbox',
      severity: 'error',
      comment: 'Product code has one path; only scripts and tests start the sandbox.',
      from: { path: '^src/', pathNot: '\\.test\\.tsx?$' },
      to: { path: '^(sandbox|scripts|tests|bench)/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'A circle of imports has no bottom.',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'imports-exist',
      severity: 'error',
      comment: 'What is imported must be there.',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(astro:|virtual:|bun:)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|var|\\.astro)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    extraExtensionsToScan: ['.astro', '.css', '.json'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.astro', '.json', '.css'],
    },
  },
};
