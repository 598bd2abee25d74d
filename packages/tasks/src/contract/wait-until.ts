/** Waits until something is so: what one instance tells another takes its way. */
export async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let checks = 0; !isMet(); checks++) {
    if (checks >= 500) throw new Error('Nothing was heard within 5 seconds')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
