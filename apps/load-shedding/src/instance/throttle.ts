const periodMs = 200

/**
 * Lets this process stand still for a share of the time, as a container does whose CPU quota is used up: nothing runs,
 * no timer and no answer. It takes no CPU itself, so that other instances on this machine are as fast as before. A
 * share of 0 ends it.
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
