/** Which stored pages an edit concerns, read from the store's file by the tags of docs/decisions/0002. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface Stored {
  readonly pages: number;
  /** Paths of the stored pages that everyone may read. */
  paths(): readonly string[];
  /**
   * Pages that an edit must have rendered.
   *
   * @param gone tag of what is withdrawn: its pages are rendered once, in all their variants
   */
  concerned(
    tags: readonly string[],
    gone: string | null,
  ): readonly { readonly key: string; readonly variant: string }[];
  close(): void;
}

export function openStored(dataDir: string): Stored {
  const folder = join(dataDir, 'pages');
  const [name] = readdirSync(folder).filter((each) => each.endsWith('.sqlite'));
  const file = new DatabaseSync(join(folder, name ?? ''), { readOnly: true });
  const carrying = file.prepare(`SELECT DISTINCT p.key, p.variant FROM tags t JOIN page_tags pt ON pt.tag = t.id
    JOIN pages p ON p.id = pt.page WHERE t.name IN (SELECT value FROM json_each(?))`);
  const ask = (tags: readonly string[]) =>
    carrying.all(JSON.stringify(tags)).map(({ key, variant }) => ({ key: String(key), variant: String(variant) }));
  return {
    get pages() {
      return Number(file.prepare('SELECT count(*) AS pages FROM pages').get()?.pages);
    },
    paths: () =>
      file
        .prepare("SELECT key FROM pages WHERE variant = 'public' ORDER BY id")
        .all()
        .map(({ key }) => String(key)),
    concerned(tags, gone) {
      const leaving = new Set((gone === null ? [] : ask([gone])).map(({ key }) => key));
      const staying = ask(tags).filter(({ key }) => !leaving.has(key));
      return [...[...leaving].map((key) => ({ key, variant: 'public' })), ...staying];
    },
    close: () => file.close(),
  };
}
