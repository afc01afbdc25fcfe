/**
 * Each import rule works: it finds a small tree that breaks it. Whether the project follows the rules is checked by `npm test`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ruleNames, scriptsOf, violations } from '../scripts/import-rules.ts';

type Tree = Record<string, string>;
const empty = 'export const a = 1;\n';
const astro = (frontMatter: string, rest = '<p></p>'): string => `---\n${frontMatter}\n---\n${rest}\n`;

/** Each rule with trees that break only this rule. */
const broken: Record<string, Tree[]> = {
  'lib-looks-down-only': [{ 'src/lib/x/a.ts': "import '../../server/b.ts';", 'src/server/b.ts': empty }],
  'content-above-lib': [
    {
      'src/lib/x/a.ts': "import type { b } from '../../content/b.ts';\nexport type A = b;",
      'src/content/b.ts': 'export type b = 1;\n',
    },
  ],
  'stores-looks-down-only': [{ 'src/stores/a.ts': "import '../content/b.ts';", 'src/content/b.ts': empty }],
  'islands-looks-down-only': [
    { 'src/islands/A/A.island.tsx': "import '../../components/B.astro';", 'src/components/B.astro': astro('') },
  ],
  'components-looks-down-only': [
    { 'src/components/A.astro': astro("import B from '../layouts/B.astro';"), 'src/layouts/B.astro': astro('') },
    { 'src/components/A.astro': astro('', "<script>import '../server/b.ts';</script>"), 'src/server/b.ts': empty },
  ],
  'layouts-looks-down-only': [
    { 'src/layouts/A.astro': astro("import { b } from '../pages/b.ts';"), 'src/pages/b.ts': empty },
  ],
  'pages-looks-down-only': [{ 'src/pages/a.astro': astro("import '../server/b.ts';"), 'src/server/b.ts': empty }],
  'content-looks-down-only': [{ 'src/content/a.ts': "import '../press/b.ts';", 'src/press/b.ts': empty }],
  'islands-without-server': [
    {
      'src/islands/A/A.island.tsx': "import '../../stores/b.ts';",
      'src/stores/b.ts': "import '../lib/x/c.ts';",
      'src/lib/x/c.ts': "import './d.server.ts';",
      'src/lib/x/d.server.ts': empty,
    },
  ],
  'press-without-wordpress': [
    { 'src/press/a.ts': "import '../content/b.ts';", 'src/content/b.ts': empty },
    { 'src/press/a.ts': "import 'astro/config';" },
    { 'src/press/a.ts': "import 'astro:middleware';" },
  ],
  'sandbox-without-product': [{ 'sandbox/a.ts': "import type { a } from '../src/b.ts';", 'src/b.ts': empty }],
  'product-without-sandbox': [{ 'src/server/a.ts': "import '../../sandbox/b.ts';", 'sandbox/b.ts': empty }],
  'no-cycles': [
    {
      'src/lib/a.ts': "import './b.ts';\nexport const a = 1;",
      'src/lib/b.ts': "import './a.ts';\nexport const b = 1;",
    },
  ],
  'imports-exist': [{ 'src/lib/a.ts': "import './gone.ts';" }],
};

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function write(tree: Tree): string {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\n`);
  }
  return folder;
}

describe('import rules', () => {
  it('each have an example that breaks them', () => {
    expect(Object.keys(broken).toSorted()).toEqual(ruleNames().toSorted());
  });

  it.each(Object.entries(broken))('%s reports the imports that break it', async (rule, trees) => {
    for (const tree of trees) {
      const found = await violations(write(tree));
      expect([...new Set(found.map((violation) => violation.rule))], JSON.stringify(tree)).toEqual([rule]);
    }
  });

  it('allow the imports that they permit', async () => {
    const tree: Tree = {
      'src/server/main.ts': "import '../content/content.server.ts';\nimport '../lib/x/service.server.ts';",
      'src/content/content.server.ts': empty,
      'src/lib/x/service.server.ts': "import './model.ts';",
      'src/lib/x/model.ts': empty,
      'src/lib/x/client.ts': "import './model.ts';",
      'src/stores/session.ts': "import '../lib/x/client.ts';",
      'src/islands/A/A.island.tsx': "import '../../stores/session.ts';",
      'src/layouts/Base.astro': astro("import C from '../components/C.astro';"),
      'src/components/C.astro': astro("import '../islands/A/A.island.tsx';\nimport '../content/content.server.ts';"),
      'src/pages/index.astro': astro("import Base from '../layouts/Base.astro';"),
    };
    expect(await violations(write(tree))).toEqual([]);
  });

  it('see the imports in the frontmatter and scripts of an Astro file', () => {
    const text = scriptsOf(
      astro(
        "import A from './A.astro';",
        "<script>\nimport { b } from './b.ts';\nconst c = await import('./c.ts');\n</script>",
      ),
    );
    for (const part of ["import A from './A.astro'", "import { b } from './b.ts'", "import('./c.ts')"])
      expect(text).toContain(part);
  });
});
