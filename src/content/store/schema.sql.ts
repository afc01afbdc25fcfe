/**
 * Tables of the content store. The content store is derived data: a change here raises {@link schemaVersion}, and a content store with
 * another version is deleted and filled again, so that there are no migrations.
 */

/** Raise it with every change of the tables, or of the data that ingest writes into them. */
export const schemaVersion = 16;

/**
 * `documents` holds what lists show; bodies have a table of their own, so that a list reads small rows. WordPress numbers all posts
 * from one counter, so an id is unique over all types.
 *
 * `listing` has every list of the site (`articles`, `articles:section:3`, `articles:author:5`, `articles:podcast:7`, `video`, …), clustered in its display
 * order; triggers keep `list_counts` current, so that a total never costs a scan.
 */
export const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  excerpt TEXT NOT NULL,
  image TEXT,
  -- the first author; further ones, contributors and an agency are in the facts
  author_id INTEGER,
  terms TEXT NOT NULL,
  date TEXT NOT NULL,
  modified TEXT NOT NULL,
  facts TEXT NOT NULL,
  -- 1 while only known from an article that names it (authors whose own document has not come yet)
  partial INTEGER NOT NULL DEFAULT 0,
  -- when the answer that this came from was asked for, epoch milliseconds
  fetched INTEGER NOT NULL,
  -- WordPress's own clock at that moment, epoch seconds, 0 when it did not say
  fetched_clock INTEGER NOT NULL DEFAULT 0,
  body_hash TEXT NOT NULL
);
CREATE INDEX documents_slug ON documents (type, slug);

CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL, opening TEXT NOT NULL);

-- The sounds of stories, as JSON: lists don't read them with their documents.
CREATE TABLE sounds (id INTEGER PRIMARY KEY, sound TEXT NOT NULL);

-- The notes on all stories in the order of their list; what each says is in the facts of its document, at this place.
CREATE TABLE corrections (
  date TEXT NOT NULL, id INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (date DESC, id DESC, place)
) WITHOUT ROWID;
CREATE INDEX corrections_id ON corrections (id);

-- Live stories: the sum of the versions of their entries (live.server.ts).
CREATE TABLE live (story INTEGER PRIMARY KEY, sum INTEGER NOT NULL);

CREATE TABLE listing (
  list TEXT NOT NULL,
  date TEXT NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (list, date DESC, id DESC)
) WITHOUT ROWID;
CREATE INDEX listing_id ON listing (id);

CREATE TABLE list_counts (list TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER listing_added AFTER INSERT ON listing BEGIN
  INSERT INTO list_counts VALUES (NEW.list, 1) ON CONFLICT (list) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER listing_removed AFTER DELETE ON listing BEGIN
  UPDATE list_counts SET n = n - 1 WHERE list = OLD.list;
END;

-- Every slug a document ever had. What an address without a document answers is derived from it.
CREATE TABLE old_slugs (type TEXT NOT NULL, slug TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (type, slug)) WITHOUT ROWID;
CREATE INDEX old_slugs_id ON old_slugs (id);

-- When a withdrawn document was last known to be away, so that an older answer cannot bring it back.
CREATE TABLE withdrawn (id INTEGER PRIMARY KEY, type TEXT NOT NULL, fetched INTEGER NOT NULL);

CREATE TABLE sections (
  id INTEGER PRIMARY KEY, slug TEXT NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL, homepage_count INTEGER NOT NULL,
  show_in_media INTEGER NOT NULL, position REAL, color TEXT NOT NULL, former TEXT NOT NULL
);

CREATE TABLE menus (location TEXT PRIMARY KEY, items TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE comments (
  id INTEGER PRIMARY KEY,
  post INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  -- the top-level comment that it belongs under; its own id when it is one
  root INTEGER NOT NULL,
  author TEXT NOT NULL,
  content TEXT NOT NULL,
  date TEXT NOT NULL
);
CREATE INDEX comments_root ON comments (post, root, date, id);
CREATE INDEX comments_top ON comments (post, date, id) WHERE parent = 0;
CREATE INDEX comments_parent ON comments (parent, date, id);

-- When the answer was asked for that last changed or withdrew a comment, so that an older answer cannot undo it.
CREATE TABLE comment_fetches (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);

-- Rows are numbered by search_keys, so that their order is that of publication; see content/search/index.server.ts.
CREATE VIRTUAL TABLE search USING fts5 (
  title, standfirst, author, body, facets,
  tokenize = "porter unicode61 remove_diacritics 2", prefix = '3 4 5'
);
INSERT INTO search (search, rank) VALUES ('rank', 'bm25(10.0, 5.0, 4.0, 1.0, 0.0)');
CREATE TABLE search_keys (id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE);
-- Different words of the index and how many stories have them, for those who mistype one.
CREATE TABLE words (word TEXT PRIMARY KEY, docs INTEGER NOT NULL) WITHOUT ROWID;

-- Documents that do not fit the wire schemas, kept for the editors to see and retried when they change.
CREATE TABLE rejected (
  type TEXT NOT NULL, id INTEGER NOT NULL, url TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL,
  problem TEXT NOT NULL, modified TEXT NOT NULL, tried INTEGER NOT NULL,
  PRIMARY KEY (type, id)
) WITHOUT ROWID;

-- How far the back-fill, the poll and the slow walk have come, committed together with what they brought.
CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE deliveries (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE measured (url TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL) WITHOUT ROWID;
`;

/**
 * Settings of the search index: `mergeSome` can join any two pieces (`usermerge`); a transaction joins pieces only when eight have
 * accumulated, as while an archive is copied.
 */
export const searchSettings = `
INSERT INTO search (search, rank) VALUES ('automerge', 8);
INSERT INTO search (search, rank) VALUES ('usermerge', 2);
`;
