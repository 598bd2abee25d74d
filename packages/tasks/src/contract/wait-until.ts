/** Waits at most 5 seconds for a condition. A notification needs some time to reach another instance. */
export async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let checks = 0; !isMet(); checks++) {
    if (checks >= 500) throw new Error('The condition was not true within 5 seconds')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
