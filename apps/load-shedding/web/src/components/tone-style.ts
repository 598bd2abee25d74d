/** The colour of an element with a tone. */
export function toneStyle(tone: number): Record<string, string> {
  return { '--tone': `var(--tone-${tone})` }
}
