/** The state of a prime count. It is plain JSON, so that it can be a checkpoint. */
export type Tally = {
  /** The first number that was not looked at. */
  readonly next: number
  readonly primes: number
  /** Depends on each prime and on their order: two counts that agree in it have found the same. */
  readonly checksum: number
}

/** Before the first number. */
export const emptyTally: Tally = { next: 2, primes: 0, checksum: 0x811c9dc5 }

/** The count of numbers between two checkpoints: a few milliseconds of work. */
const chunk = 50_000

/** The tally after the chunk of so many numbers that it stands before, and never beyond the limit. */
export function countChunk(tally: Tally, limit: number, numbers = chunk): Tally {
  const end = Math.min(tally.next + numbers - 1, limit)
  let { primes, checksum } = tally
  for (let number = tally.next; number <= end; number++) {
    if (!isPrime(number)) continue
    primes++
    checksum = Math.imul(checksum ^ number, 0x01000193) >>> 0
  }
  return { next: end + 1, primes, checksum }
}

/** By trial division, because the work should be long. */
function isPrime(number: number): boolean {
  if (number < 4) return number > 1
  if (number % 2 === 0 || number % 3 === 0) return false
  for (let divisor = 5; divisor * divisor <= number; divisor += 6) {
    if (number % divisor === 0 || number % (divisor + 2) === 0) return false
  }
  return true
}
