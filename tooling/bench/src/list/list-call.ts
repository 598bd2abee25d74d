import { callOf } from '../http/call.ts'

/** A request for the first page of the list, which has all 500 tools. */
export const listCall = callOf('tools/list', {}, '"tool-498"')
