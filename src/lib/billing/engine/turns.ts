/** Runs one after the other what concerns the same subject, in this process. */
export type InTurn = <T>(subject: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (subject, work) => {
    const turn = (last.get(subject) ?? Promise.resolve()).then(work, work);
    const settled = turn.then(
      () => {},
      () => {},
    );
    last.set(subject, settled);
    void settled.then(() => {
      if (last.get(subject) === settled) last.delete(subject);
    });
    return turn;
  };
}
