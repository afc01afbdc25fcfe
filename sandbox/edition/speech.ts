/** Recordings of the demo edition: a voice without words, made of a buzz and the resonances of vowels, as WAV. */

/** Samples a second; each is one byte, so that a few seconds stay small. */
const rate = 8000;
const headerBytes = 44;

/** The first three resonances of vowels, in hertz. */
const vowels = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [270, 2290, 3010],
  [570, 840, 2410],
  [440, 1020, 2240],
] as const;

/** The same numbers, 0 to 1, for the same seed. */
function random(seed: string): () => number {
  let state = 2166136261;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16777619) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** How much of a frequency the mouth lets through. */
const resonance = (frequency: number, formants: readonly number[]): number =>
  formants.reduce((sum, formant, at) => sum + 1 / (1 + ((frequency - formant) / (80 + 40 * at)) ** 2) / (at + 1), 0);

interface Syllable {
  readonly begins: number;
  readonly lasts: number;
  readonly pitch: number;
  /** Strength of each harmonic. */
  readonly harmonics: readonly number[];
}

function syllables(seconds: number, random: () => number): Syllable[] {
  const list: Syllable[] = [];
  let at = 0.2;
  while (at < seconds - 0.4) {
    const lasts = 0.11 + 0.12 * random();
    const pitch = 105 + 35 * random();
    const formants = vowels[Math.floor(random() * vowels.length)] ?? vowels[0];
    const harmonics = Array.from({ length: 24 }, (_, index) => resonance((index + 1) * pitch, formants) / (index + 1));
    list.push({ begins: at, lasts, pitch, harmonics });
    // A pause for breath between phrases.
    at += lasts + (random() < 0.14 ? 0.45 : 0.03 + 0.05 * random());
  }
  return list;
}

/** A recording of some seconds. @param seed the same seed gives the same recording */
export function recording(seed: string, seconds: number): Buffer {
  const samples = new Float64Array(Math.round(seconds * rate));
  for (const { begins, lasts, pitch, harmonics } of syllables(seconds, random(seed))) {
    const first = Math.round(begins * rate);
    const count = Math.round(lasts * rate);
    for (let n = 0; n < count && first + n < samples.length; n++) {
      const loud = Math.sin((Math.PI * n) / count) ** 0.6;
      let value = 0;
      for (const [index, strength] of harmonics.entries())
        value += strength * Math.sin((2 * Math.PI * (index + 1) * pitch * n) / rate);
      samples[first + n] = loud * value;
    }
  }
  const peak = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0.001);
  const wav = Buffer.alloc(headerBytes + samples.length);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(headerBytes - 8 + samples.length, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rate, 24);
  wav.writeUInt32LE(rate, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples.length, 40);
  for (const [at, value] of samples.entries()) wav[headerBytes + at] = Math.round(128 + (100 * value) / peak);
  return wav;
}
