const periodMs = 200

/**
 * Creates a function that blocks this process for a share of the time, from 0 to below 1. It imitates a container with
 * an exhausted CPU quota: no timer fires and no response is sent. A blocked process uses no CPU, so the other instances
 * on this machine keep their speed. The share 0 ends the blocking.
 */
export function createThrottle(): (share: number) => void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  let blockedMs = 0
  let timer: NodeJS.Timeout | undefined
  const scheduleBlock = (): void => {
    timer = setTimeout(() => {
      Atomics.wait(cell, 0, 0, blockedMs)
      scheduleBlock()
    }, periodMs - blockedMs).unref()
  }
  return (share) => {
    clearTimeout(timer)
    blockedMs = share * periodMs
    if (blockedMs > 0) scheduleBlock()
  }
}
