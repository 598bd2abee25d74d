import { callOf } from '../http/call.ts'

/** The first page of the list, which holds all 500 tools. */
export const listCall = callOf('tools/list', {}, '"tool-498"')
