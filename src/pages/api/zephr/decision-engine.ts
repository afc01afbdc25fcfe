/** The decision engine under its other address (spec section 7). */
export { ALL, POST } from '../../zephr/decision-engine.ts';
