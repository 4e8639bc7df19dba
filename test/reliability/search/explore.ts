import { createHash } from 'node:crypto';

/** A world in which one event happens after the other. The same events lead to the same state. */
export interface World<Event> {
  /** What may happen next; nothing at the end. */
  events(): readonly Event[];
  happen(event: Event): Promise<void>;
  /** Describes everything that the future and the verdict depend on: equal texts for equal states. */
  describe(): string;
}

/**
 * Walks all orders of events, depth first. Nothing can be taken back, so each execution begins with a new world. It repeats the
 * choices of the one before, up to the last that has an alternative. It ends early in a state that another one has reached.
 *
 * @param judge - checks a world at its end, after these events
 * @returns the numbers of executions and of different states
 */
export async function explore<Event, W extends World<Event>>(
  makeWorld: () => Promise<W>,
  judge: (world: W, events: readonly Event[]) => void,
): Promise<{ executions: number; states: number }> {
  const known = new Set<string>();
  const choices: { index: number; alternatives: number }[] = [];

  const execute = async () => {
    const world = await makeWorld();
    const past: Event[] = [];
    for (;;) {
      const events = world.events();
      if (past.length === choices.length) {
        const state = createHash('sha1').update(world.describe()).digest('base64');
        if (known.has(state)) return;
        known.add(state);
        if (events.length === 0) return judge(world, past);
        choices.push({ index: 0, alternatives: events.length - 1 });
      }
      const event = events[choices[past.length]?.index ?? 0] as Event;
      past.push(event);
      await world.happen(event);
    }
  };

  for (let executions = 1; ; executions += 1) {
    await execute();
    while (choices.at(-1)?.alternatives === 0) choices.pop();
    const last = choices.at(-1);
    if (last === undefined) return { executions, states: known.size };
    last.index += 1;
    last.alternatives -= 1;
  }
}
