/** Waits at most a minute for a condition. A notification needs some time to reach another instance. */
export async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let checks = 0; !isMet(); checks++) {
    if (checks >= 6000) throw new Error('The condition was not true within a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
