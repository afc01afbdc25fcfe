/** Whether scripts are at work, for forms that browsers check and send without them. */
import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** False in what the server draws and while React takes that over, then true; true at once where the server drew nothing. */
export const useScripted = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
