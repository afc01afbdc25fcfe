import { expect, it } from 'vitest';
import { recording } from './speech.ts';

it('a recording is a small WAV of the requested length, the same for the same words, and not silent', () => {
  const wav = recording('a-story', 11);
  expect([wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 12), wav.readUInt32LE(24)]).toEqual(['RIFF', 'WAVE', 8000]);
  expect(wav.readUInt32LE(40)).toBe(88_000);
  expect(wav.readUInt32LE(4)).toBe(wav.byteLength - 8);
  expect(wav.byteLength).toBeLessThan(100_000);
  expect(wav.equals(recording('a-story', 11))).toBe(true);
  expect(wav.equals(recording('another', 11))).toBe(false);
  const samples = wav.subarray(44);
  expect([Math.min(...samples) < 60, Math.max(...samples) > 200]).toEqual([true, true]);
});
