/** Waits until something is so: what one instance tells another takes its way. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo(); looks++) {
    if (looks >= 500) throw new Error('Nothing was heard within 5 seconds')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
