/** A promise that a test resolves, instead of waiting for a time. */
export interface Gate<T = void> {
  readonly opened: Promise<T>
  open(value: T): void
}

/** Creates a closed gate. */
export function createGate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open: (value) => open(value) }
}
