import type { Card } from '../../content/model.ts';

/** True when nobody may be asked for an account before reading. `default` is open until a rule says otherwise. */
export const isFree = (access: Card['access']): boolean => access === 'free' || access === 'default';
