/** Reasons in conditions and events that mean the same whichever kind they are of: metrics count them. */

/** The spec can't be made true; only its author can help. */
export const INVALID_SPEC = 'InvalidSpec';

/** A deletion was let go before everything was cleaned up. */
export const CLEANUP_FORCED = 'CleanupForced';
