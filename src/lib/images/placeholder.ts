/** Colours of what stands in place of a picture that a story has not got, in their turn (spec section 9). */
const colours = ['white', 'gold', 'red'] as const;

/** @param turn position among the placeholders of a page, from 0 */
export const placeholderColour = (turn: number): (typeof colours)[number] => colours[turn % colours.length] ?? 'white';
