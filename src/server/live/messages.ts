/** What the process that has the content tells those that have the open streams; with one process, it is a call. */
import type { LiveStory } from '../../lib/content/model.ts';

export interface LiveSink {
  /** All stories that are live now. The streams of others end; where a state isn't the one that was sent last, pages fetch themselves again. */
  stories(stories: readonly LiveStory[]): void;
  /** Events that lead to the story's state. @param events text of the stream */
  send(story: LiveStory, events: string): void;
}
