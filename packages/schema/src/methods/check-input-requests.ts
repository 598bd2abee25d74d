import { inputRequest, inputRequests } from '../patterns/mrtr.ts'
import type { Check } from '../basic/failure.ts'
import { checkOf } from '../basic/shape.ts'

/** Checks one `InputRequest`, a form, a URL, a sampling request or a request for roots: undefined when it is valid. */
export const checkInputRequest: Check = checkOf(inputRequest)

/** Checks `InputRequests` with any keys (basic/patterns/mrtr): undefined when all are valid. */
export const checkInputRequests: Check = checkOf(inputRequests)
