/** How six boxes of one character each behave as one field. Pure: boxes in, boxes and the place of the cursor out. */

export const codeLength = 6;

export interface Boxes {
  /** One digit or nothing each; always `codeLength` of them. */
  readonly digits: readonly string[];
  /** Which box has the cursor. */
  readonly at: number;
}

export const emptyBoxes: Boxes = { digits: Array<string>(codeLength).fill(''), at: 0 };

export const isComplete = ({ digits }: Boxes): boolean => digits.every((digit) => digit !== '');

const within = (at: number) => Math.min(Math.max(at, 0), codeLength - 1);

/** Boxes with what a text has of digits; for a code that is there from the start. */
export const boxesOf = (text: string): Boxes => insert(emptyBoxes, 0, text);

/**
 * Writes a text into the boxes from one on: a key, a paste or what a phone fills in. A whole code begins at the first box
 * wherever it was dropped. What is no digit is left out.
 */
export function insert(boxes: Boxes, at: number, text: string): Boxes {
  const typed = [...text].filter((character) => /[0-9]/.test(character)).slice(0, codeLength);
  if (typed.length === 0) return boxes;
  const from = typed.length === codeLength ? 0 : within(at);
  const digits = boxes.digits.map((digit, index) => typed[index - from] ?? digit);
  return { digits, at: within(from + typed.length) };
}

/** Backspace empties its own box, or the one before when its own is empty. */
export function backspace(boxes: Boxes, at: number): Boxes {
  const target = boxes.digits[at] === '' ? within(at - 1) : at;
  return { digits: boxes.digits.with(target, ''), at: target };
}

/** Delete empties its own box and stays. */
export const erase = (boxes: Boxes, at: number): Boxes => ({ digits: boxes.digits.with(at, ''), at });

/** Where a key takes the cursor; `null` for keys that do not move it. */
export function moved(at: number, key: string): number | null {
  switch (key) {
    case 'ArrowLeft':
      return within(at - 1);
    case 'ArrowRight':
      return within(at + 1);
    case 'Home':
      return 0;
    case 'End':
      return codeLength - 1;
    default:
      return null;
  }
}
