/**
 * Turns changes of live stories into events for their open pages. An entry is rendered once for each change, as its fragment page; all
 * connections get those bytes. It follows the change feed, so that each node of a cluster serves its own readers.
 */
import type { ContentChange } from '../../content/service.ts';
import { isFree } from '../../lib/article/model.ts';
import type { LiveStory } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { streamEvents } from '../../lib/live/schema.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Variant } from '../../press/store/stored-page.ts';
import { eventText } from './frames.ts';

/**
 * Messages from the process with the content to those with the open streams; with a single process, they are function calls.
 */
export interface LiveSink {
  /** All stories that are live now. The streams of others end; where a state isn't the one that was sent last, pages fetch themselves again. */
  stories(stories: readonly LiveStory[]): void;
  /** Events that lead to the story's state. @param events text of the stream */
  send(story: LiveStory, events: string): void;
}

export interface LiveFeedOptions {
  readonly reader: () => Pick<ContentReader, 'liveEntry' | 'liveStories'>;
  /** The markup of an entry as pages of its story have it; `''` when there is none. */
  readonly render: (entry: number, variant: Variant) => Promise<string>;
  readonly sink: LiveSink;
  readonly log: Logger;
}

export interface LiveFeed {
  /** Follows the change feed. Events are sent in the order of the changes. */
  changed(change: Pick<ContentChange, 'tags' | 'withdrawnTags'>): undefined;
  /** Sends the sink the stories that are live. */
  start(): void;
  /** The stories that are live, with the states whose events have been sent. */
  stories(): readonly LiveStory[];
  /** Resolves when the events of all changes so far have been sent. */
  settled(): Promise<void>;
}

/** Tags of changes that may begin, end or change live coverage. */
const relevant = /^(?:live|entry|article):|^(?:navigation|site)$/;

export function createLiveFeed(options: LiveFeedOptions): LiveFeed {
  const { reader, sink, log } = options;
  let queue = Promise.resolve();
  let sentStories: readonly LiveStory[] = [];
  const sendStories = (stories: readonly LiveStory[]): void => {
    sentStories = stories;
    sink.stories(stories);
  };
  return {
    changed({ tags, withdrawnTags = [] }) {
      const all = [...tags, ...withdrawnTags].filter((tag) => relevant.test(tag));
      if (all.length > 0)
        queue = queue
          .then(async () => sendStories(await sendChange(options, new Set(all))))
          .catch((error: unknown) => log.error({ err: error }, "A change of live coverage couldn't be sent"));
      return undefined;
    },
    start: () => sendStories(reader().liveStories()),
    stories: () => sentStories,
    settled: () => queue,
  };
}

/** @returns the stories that are live, as they were before anything was rendered */
async function sendChange(options: LiveFeedOptions, tags: ReadonlySet<string>): Promise<readonly LiveStory[]> {
  const { reader, sink } = options;
  const content = reader();
  const stories = content.liveStories();
  const changed = stories.filter(({ id }) => tags.has(`live:${id}`));
  if (changed.length === 0) return stories;
  const ids = [...tags].flatMap((tag) => (tag.startsWith('entry:') ? Number(tag.slice(6)) : []));
  const owners = new Map(ids.map((id) => [id, content.liveEntry(id)?.story ?? null]));
  for (const story of changed) {
    let events = '';
    for (const id of ids.sort((one, other) => one - other)) events += await eventOf(options, story, id, owners.get(id));
    sink.send(story, events);
  }
  return stories;
}

/** The event of an entry; an open page ignores one that it already shows. @param owner its story, if it is published */
async function eventOf(
  { render, log }: LiveFeedOptions,
  story: LiveStory,
  id: number,
  owner: number | null | undefined,
) {
  if (owner !== story.id) return eventText(streamEvents.gone, String(id));
  try {
    const html = await render(id, isFree(story.access) ? 'public' : 'full');
    return html.trim() === '' ? eventText(streamEvents.gone, String(id)) : eventText(streamEvents.entry, html.trim());
  } catch (error) {
    log.error(
      { err: error, entry: id },
      "An entry of a live story couldn't be rendered; open pages fetch theirs again",
    );
    return eventText(streamEvents.sync, story.state);
  }
}
