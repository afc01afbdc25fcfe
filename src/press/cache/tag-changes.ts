/**
 * Which tag changed last when, in numbers and not in time: every change has the next number of one sequence. A render notes
 * the number at its start; what it shows is out of date when one of its tags has a higher one at its end.
 */
export interface TagChanges {
  /** Number of the latest change. */
  readonly latest: number;
  /** Notes a change. @param number from the store, or `null` to take the next one */
  note(tags: Iterable<string>, withdrawn: Iterable<string>, number: number | null): number;
  /** Takes over a number that the store knows from elsewhere. */
  reach(number: number): void;
  /** What happened to any of these tags after change number `since`. */
  after(tags: Iterable<string>, since: number): 'nothing' | 'changed' | 'withdrawn';
}

interface Mark {
  readonly changed: number;
  readonly withdrawn: number;
}

/**
 * @param everything the tag that stands for every page
 * @param limit how many tags are remembered; beyond it the oldest are forgotten, and a render that began before they
 *   were is shown to nobody
 */
export function createTagChanges(everything: string | null, limit = 50_000): TagChanges {
  let latest = 0;
  /** All changes up to this number may have been forgotten. */
  let forgotten = 0;
  const marks = new Map<string, Mark>();

  function mark(tag: string, number: number, withdrawn: boolean): void {
    const before = marks.get(tag);
    // Deleted first: the map then stays in the order of the changes.
    marks.delete(tag);
    marks.set(tag, { changed: number, withdrawn: withdrawn ? number : (before?.withdrawn ?? 0) });
  }

  return {
    get latest() {
      return latest;
    },
    note(tags, withdrawn, number) {
      latest = Math.max(latest + 1, number ?? 0);
      for (const tag of tags) mark(tag, latest, false);
      for (const tag of withdrawn) mark(tag, latest, true);
      while (marks.size > limit) {
        const [oldest] = marks;
        if (!oldest) break;
        marks.delete(oldest[0]);
        forgotten = Math.max(forgotten, oldest[1].changed);
      }
      return latest;
    },
    reach(number) {
      latest = Math.max(latest, number);
    },
    after(tags, since) {
      if (since < forgotten) return 'withdrawn';
      let answer: 'nothing' | 'changed' = 'nothing';
      const look = (tag: string): boolean => {
        const known = marks.get(tag);
        if (known && known.withdrawn > since) return true;
        if (known && known.changed > since) answer = 'changed';
        return false;
      };
      if (everything !== null && look(everything)) return 'withdrawn';
      for (const tag of tags) if (look(tag)) return 'withdrawn';
      return answer;
    },
  };
}
