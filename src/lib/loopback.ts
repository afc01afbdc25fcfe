/** Whether a host name, as `URL.hostname` has it, means this machine. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(hostname);
