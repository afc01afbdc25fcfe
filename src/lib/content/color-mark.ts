import type { Section } from './model.ts';

/** A section's color as an attribute. The usual one has no rules in the styles, and stood in the front page two dozen times. */
export const colorMark = (color: Section['color']): 'red' | undefined => (color === 'default' ? undefined : color);
