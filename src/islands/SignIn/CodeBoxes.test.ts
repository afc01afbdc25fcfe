import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backspace, codeLength, emptyBoxes, erase, insert, isComplete, moved } from './CodeBoxes.tsx';

const boxesOf = (text: string) => insert(emptyBoxes, 0, text);

const text = (boxes: { digits: readonly string[] }) => boxes.digits.map((digit) => digit || '·').join('');

describe('the six code boxes', () => {
  it('take one digit after another', () => {
    let boxes = emptyBoxes;
    for (const digit of '123456') boxes = insert(boxes, boxes.at, digit);
    expect(text(boxes)).toBe('123456');
    expect(boxes.at).toBe(5);
    expect(isComplete(boxes)).toBe(true);
  });

  it('take a whole code from the first box on, wherever it is pasted', () => {
    expect(insert(emptyBoxes, 4, ' 123-456 ')).toEqual({ digits: [...'123456'], at: 5 });
    expect(insert(boxesOf('999999'), 2, 'Your code is 123 456.').digits.join('')).toBe('123456');
  });

  it('take part of a code where it is pasted, and cut off what does not fit', () => {
    expect(text(insert(emptyBoxes, 2, '12'))).toBe('··12··');
    expect(insert(emptyBoxes, 2, '12').at).toBe(4);
    expect(text(insert(emptyBoxes, 4, '123'))).toBe('····12');
    expect(text(insert(emptyBoxes, 0, '1234567890'))).toBe('123456');
  });

  it('ignore letters', () => {
    expect(insert(boxesOf('12'), 2, 'x')).toEqual(boxesOf('12'));
    expect(insert(emptyBoxes, 0, '')).toBe(emptyBoxes);
  });

  it('are emptied backward by Backspace, and one at a time by Delete', () => {
    const full = boxesOf('123456');
    const five = backspace(full, 5);
    expect(text(five)).toBe('12345·');
    expect(text(backspace(five, 5))).toBe('1234··');
    expect(backspace(five, 5).at).toBe(4);
    expect(backspace(emptyBoxes, 0)).toEqual(emptyBoxes);
    expect(text(erase(full, 2))).toBe('12·456');
  });

  it('are navigated with the arrow keys, Home and End', () => {
    expect(moved(0, 'ArrowLeft')).toBe(0);
    expect(moved(3, 'ArrowLeft')).toBe(2);
    expect(moved(5, 'ArrowRight')).toBe(5);
    expect(moved(3, 'Home')).toBe(0);
    expect(moved(3, 'End')).toBe(5);
    expect(moved(3, 'a')).toBeNull();
  });

  it('hold at most one digit each after any sequence of edits', () => {
    const step = fc.oneof(
      fc.tuple(fc.constant('insert' as const), fc.string()),
      fc.tuple(fc.constantFrom('backspace' as const, 'erase' as const), fc.constant('')),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat({ max: codeLength - 1 }))), (steps) => {
        let boxes = emptyBoxes;
        for (const [[what, typed], at] of steps) {
          boxes = what === 'insert' ? insert(boxes, at, typed) : (what === 'erase' ? erase : backspace)(boxes, at);
          expect(boxes.digits).toHaveLength(codeLength);
          expect(boxes.digits.every((digit) => /^[0-9]?$/.test(digit))).toBe(true);
          expect(boxes.at).toBeGreaterThanOrEqual(0);
          expect(boxes.at).toBeLessThan(codeLength);
        }
      }),
    );
  });
});
