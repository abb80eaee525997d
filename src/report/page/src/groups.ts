// Which of a trace's groups (calls of one function at one site) are selected.
import type { Opened } from './protocol';
import type { State } from './state';

/** Their numbers; null: all. */
export function groupsOf(opened: Opened, shown: Pick<State, 'fn' | 'site'>): number[] | null {
  if (shown.fn === '' && shown.site === '') return null;
  const found: number[] = [];
  opened.groups.forEach((group, i) => {
    if ((shown.fn === '' || group.fn === shown.fn) && (shown.site === '' || group.site === shown.site)) found.push(i);
  });
  return found;
}
