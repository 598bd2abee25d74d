/** The state of a prime count. It is plain JSON, so that it can be a checkpoint. */
export type Tally = {
  /** The next number to check. */
  readonly next: number
  readonly primes: number
  /** A hash over the primes in their order, so that two counts with the same hash found the same primes. */
  readonly checksum: number
}

/** The tally before the first number. */
export const emptyTally: Tally = { next: 2, primes: 0, checksum: 0x811c9dc5 }

/** The count of numbers between two checkpoints, a few milliseconds of work. */
const chunk = 50_000

/** Counts the primes of the next `numbers` numbers, up to the limit. Returns the new tally. */
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

/** Checks a number by trial division. It is slow on purpose. */
function isPrime(number: number): boolean {
  if (number < 4) return number > 1
  if (number % 2 === 0 || number % 3 === 0) return false
  for (let divisor = 5; divisor * divisor <= number; divisor += 6) {
    if (number % divisor === 0 || number % (divisor + 2) === 0) return false
  }
  return true
}
