"""Questions that the sample graph answers, in other words than its texts use too, and questions
about anything else.
"""


def _lines(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.replace("\n", "|").split("|"))
    return tuple(part for part in parts if part)


ANSWERABLE = _lines(
    """
    who is my mother?|who manages me at work?|who is my landlord?|who is my doctor?|which university did I go to?
    who is Dorothea married to?|which doctors dislike Lydgate?|who owns Stone Court?|who blackmails the banker?
    who is in love with Mary Garth?|who is Fred's creditor?|what newspaper did Mr Brooke buy?|who paints in Rome?
    which vicar plays whist?|who is Casaubon's cousin?|what is Casaubon writing?|who is against the railway?
    who believes in providence?|colleagues at Rivergate|a cousin I fell out with|who sails at weekends?
    who is the mayor of Middlemarch?|patients of Lydgate|siblings of Rosamond|who sold a horse to Fred?
    who gossips the most?|who inherits from Featherstone?|who runs the fever hospital?|what am I learning?
    who keeps bees?|what am I reading?|who defends model cottages?|the chaplain of the infirmary|tenant of Mr Brooke
    who spread the story about Bulstrode?|parents of Will Ladislaw|who teaches Rosamond at school?|husband of Harriet
    """
)

OFF_TOPIC = _lines(
    """
    photosynthesis|how do plants convert sunlight into sugar?|quantum entanglement|what is the capital of Peru?
    best pizza recipe|kubernetes deployment errors|how to change a car tyre|the moons of Jupiter
    who won the 1998 football world cup?|stock price of Apple|TCP congestion control|python list comprehension
    mitochondria|the French revolution|treatment for malaria|how tall is Mount Everest?|photos of the Grand Canyon
    electric vehicle batteries|who invented the telephone?|Japanese tea ceremony|the rules of cricket
    volcanic eruptions in Iceland|who is the president of Brazil?|how does a jet engine work?
    history of the Roman senate|best hotels in Bangkok|climate of Antarctica|neural network training
    blockchain consensus|my Netflix subscription|where did I park my car?|my dentist appointment
    what is the wifi password?|who is my accountant?|my trip to Japan|which gym do I go to?
    what did Zhang Wei say about the budget?|who directed Titanic?|what movies did Tom Hanks star in
    the recipe my aunt sent me|my guitar lessons|what is my passport number?|who is the CEO of Microsoft?
    vaccination schedule for dogs|the lyrics of Bohemian Rhapsody|basketball scores last night
    how do I renew my visa?|shoes I bought last week|elephants|the Higgs boson
    """
)
